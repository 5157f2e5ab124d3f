/* One source for two optimisation levels: a table and early returns. Months count from 0. */

static const unsigned char days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

int days_in_month(int month, int leap)
{
    if (month < 0 || month > 11)
        return -1;
    if (month == 1 && leap)
        return 29;
    return days[month];
}
