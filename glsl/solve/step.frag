// A scalar step of a method: from inner products and the numbers so far, the numbers that STATEMENTS assign, and whether the
// iterates go on. A group of numbers is (numbers, 1 where what follows is to move by them, else 0); the report is (flag, iterations,
// r.r, value that broke down). A negative flag closes: the rest of the iteration still moves, the next one (BEGINS) does not.
#include "include/element.glsl"
#ifndef NO_SUMS
#if WIDE
#define TOTAL(a, b) add_sums(a, b)
#endif
#include "include/total.glsl"
#endif
MORE

float flag = 0.0;
float broke = 0.0;
float done = 0.0;
float square_of_r = 0.0;
float threshold = 0.0;
float ceiling = 0.0;
float limit = 0.0;

void ends(float why, float what) {
    if (flag == RUNNING) {
        flag = why;
        broke = what;
    }
}

// Ends the run before anything moves, where the value is such that the method breaks down.
void breaks(bool broken, float why, Number v) {
    if (!within(v)) ends(OUT_OF_RANGE, leading(v));
    else if (broken) ends(why, leading(v));
}

// Ends the run before anything moves, where the value has left the range of floats: of sums that the method compares.
void bounded(Number v) {
    if (!within(v)) ends(OUT_OF_RANGE, leading(v));
}

// Ends the run at the end of this iteration, where it has stalled.
void halts(bool halted, float why, Number v) {
    if (halted) ends(-why, leading(v));
}

// An iteration is counted: what follows moves the iterate.
void counts() {
    if (flag == RUNNING) done += 1.0;
}

// The flag for this square of a residual.
float tested(Number square) {
    square_of_r = leading(square);
#if FINDS_UNIT
    threshold *= square_of_r;
#endif
    if (!in_range(square_of_r) || square_of_r > ceiling) return OUT_OF_RANGE;
    if (square_of_r <= threshold) return MET;
    return done >= limit ? EXHAUSTED : RUNNING;
}

// The square of the residual that the iterate has: it ends the run before anything moves.
void meets(Number square) {
    if (flag == RUNNING) {
        float found = tested(square);
        if (found != RUNNING) ends(found, square_of_r);
    }
}

// The square of the residual that the iterate will have at the end of this iteration: it ends the run there.
void will_meet(Number square) {
    if (flag == RUNNING) {
        float found = tested(square);
        if (found != RUNNING) ends(found == OUT_OF_RANGE ? found : -found, square_of_r);
    }
}

HEAD {
    vec4 last = last_at(ivec2(0));
    vec4 bounds = bounds_at(ivec2(0));
    threshold = bounds.x;
    ceiling = bounds.y;
    limit = bounds.z;
    flag = last.x;
#if BEGINS
    flag = abs(flag);
#endif
    done = last.y;
    square_of_r = last.z;
    broke = last.w;
    SUMS
    NUMBERS
    bool runs = flag <= RUNNING;
    if (runs) {
        STATEMENTS
        CHECKS
    }
    bool moves = flag <= RUNNING;
    if (!moves) {
        FROZEN
    }
    if (runs && !moves) done = last.y;
    vec4 report = vec4(flag, done, square_of_r, broke);
    WRITES
}
