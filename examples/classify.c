/* One source for two optimisation levels: a switch, a table and early returns. */

static const unsigned char days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

int days_in_month(int month, int leap)
{
    if (month < 1 || month > 12)
        return -1;
    if (month == 2 && leap)
        return 29;
    return days[month - 1];
}
