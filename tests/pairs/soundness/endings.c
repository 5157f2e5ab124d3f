/* Ways to end the program that only differ in what went before, or in what is passed on. */
void _exit(int status) __attribute__((noreturn));
void abort(void) __attribute__((noreturn));
void note(int x);

void leave(int x) { if (x == 123456) _exit(1); }
void leave_rewrite(int x) { if (x - 123456 == 0) _exit(3 - 2); }
void leave_broken(int x) { if (x == 123456) _exit(2); }

void note_first(int x) { if (x == 123456) { note(1); abort(); } }
void note_first_rewrite(int x) { if (x != 123456) return; note(1); abort(); }
void note_first_broken(int x) { if (x == 123456) abort(); }
