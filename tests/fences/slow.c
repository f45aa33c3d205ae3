/* Loaded before Mesa: a rasteriser thread that has raised a fence's count stays with the fence's mutex in its hands for a while, as it
   does on a loaded machine when the system takes the core away from it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

int pthread_cond_broadcast(pthread_cond_t *condition) {
    static _Atomic(int (*)(pthread_cond_t *)) next;
    static atomic_uint count;
    int (*broadcast)(pthread_cond_t *) = next;
    if (!broadcast) next = broadcast = (int (*)(pthread_cond_t *))dlsym(RTLD_NEXT, "pthread_cond_broadcast");
    int result = broadcast(condition);
    if (atomic_fetch_add(&count, 1) % 8 == 0) usleep(200);
    return result;
}
