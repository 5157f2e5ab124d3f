/* Tests of a remainder by a constant: optimised code multiplies by an inverse, rotates and compares. */

int is_leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }
int is_leap_but_400(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 800 == 0; }

int days_in_month(int year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (month < 1 || month > 12) return 0;
    return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

int days_in_month_without_centuries(int year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (month < 1 || month > 12) return 0;
    return month == 2 && year % 4 == 0 && year % 100 != 0 ? 29 : days[month - 1];
}

int tenth(short x) { return x % 10 == 0; }
int tenth_unsigned(short x) { return (unsigned short)x % 10 == 0; }

int last_of_six(unsigned x) { return x % 6 == 5; }
int last_of_six_in_seven(unsigned x) { return x % 7 == 5; }

int of_twelve(unsigned long x) { return x % 12 == 0; }
int of_twelve_below(unsigned long x) { return x % 12 == 0 && x < 0xfffffffffffffffcul; }

int of_three(long x) { return x % 3 == 0; }
int of_three_unsigned(long x) { return (unsigned long)x % 3 == 0; }

int by_minus_ten(int x) { return x / -10; }
int by_minus_ten_down(int x) { return x < 0 ? x / -10 : (x + 9) / -10; }

int seventh_left(int x) { return x % -7; }
int seventh_left_positive(int x) { return x > -2147483647 ? x % 7 : 0; }
