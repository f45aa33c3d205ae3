// Vector updates of a method in one pass: registers become linear combinations of registers, one statement after another. What
// is MOVED stays as it is once the iterates are frozen; what is MADE is anything then.
// INLINED: x is a register, and its product with the operator is computed here.
#include "include/element.glsl"
#ifdef INLINED
#include "include/product.glsl"
#endif

HEAD {
    GROUPS
#ifdef INLINED
    begin(p);
    advance(p);
#endif
    LOADS
    OWED
    if (MOVES) {
        STATEMENTS
    }
    WRITES
}
