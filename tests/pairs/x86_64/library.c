#include <string.h>

struct record { int cells[6]; long total; };

long cleared(struct record *p) { struct record r = {{0}}; r.cells[2] = 5; *p = r; return r.total + r.cells[2]; }
long cleared_broken(struct record *p) { struct record r = {{0}}; r.cells[3] = 5; *p = r; return r.total + r.cells[3]; }

void thirteen(char *p) { memset(p, 7, 13); }
void thirteen_by_hand(char *p) { for (int i = 0; i < 13; i++) p[i] = 7; }
void twelve_by_hand(char *p) { for (int i = 0; i < 12; i++) p[i] = 7; }

static const unsigned char days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
int month_from_table(unsigned month) { return month < 1 || month > 12 ? 0 : days[month - 1]; }
int month_by_switch(unsigned month) {
  switch (month) {
  case 4: case 6: case 9: case 11: return 30;
  case 2: return 28;
  case 1: case 3: case 5: case 7: case 8: case 10: case 12: return 31;
  default: return 0;
  }
}
int month_by_switch_broken(unsigned month) {
  switch (month) {
  case 4: case 6: case 9: case 11: return 30;
  case 2: return 28;
  case 1: case 3: case 5: case 7: case 8: case 10: return 31;
  default: return 0;
  }
}
