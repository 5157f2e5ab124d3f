/* Where a local is in the frame is no difference. */
void touch(int *p);
int pass(int x) { int local = x; touch(&local); return local; }
int pass_broken(int x) { int local = x; touch(&local); return (int)(local + 1u); }
