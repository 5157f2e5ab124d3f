/* Outside calls and system calls: the same ones, with the same arguments, in the same order. */
int send(int device, int value);
int ready(int device);

int send_first(int value) { return send(0, value); }
int send_second(int value) { return send(1, value); }
int send_to(int value, int device) { return send(device, value); }
int send_when_ready(int device, int value) { return ready(device) ? send(device, value) : -1; }
int send_negative_when_ready(int device, int value) { return ready(device) ? send(device, -value) : -1; }
int when_ready_send(int value, int device) { int r = ready(device); if (!r) return -1; return send(device, value); }
int send_without_asking(int value, int device) { return send(device, value); }
int send_twice(int device, int a, int b) { send(device, a); return send(device, b); }
int send_twice_backwards(int device, int a, int b) { send(device, b); return send(device, a); }
int twice_send(int b, int a, int device) { send(device, a); return send(device, b); }

static long system_call(long number, long a, long b, long c) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}
long close_file(long file) { return system_call(3, file, 0, 0); }
long any_call(long number, long a) { return system_call(number, a, 0, 0); }
long kill_group(long group, long sig) { return system_call(62, -group, sig, 0); }
long kill_process(long process, long sig) { return system_call(62, process, sig, 0); }
long other_call(long process, long sig) { return system_call(63, process, sig, 0); }
