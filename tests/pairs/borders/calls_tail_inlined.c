/* A present function that ends in a jump to an outside one, called from a function that goes on afterwards. */
int xmit(int device, int value);

__attribute__((noinline)) static int send_to(int value, int device) { return xmit(device, value); }

int directly(int value) { return xmit(0, value) + 1; }
int through_another(int value) { return send_to(value, 0) + 1; }
int to_another_device(int value) { return send_to(value, 1) + 1; }
