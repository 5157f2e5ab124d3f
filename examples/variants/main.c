#include <stdio.h>

unsigned swap_halves_variants(unsigned x);

int main(void)
{
    unsigned numbers[] = {0, 1, 0x12345678, 0xffff0000};
    for (int i = 0; i < 4; i++)
        printf("%08x\n", swap_halves_variants(numbers[i]));
    return 0;
}
