/* Indexes that walk through one array or two: towards each other, past each other, back to where they were; what is
   found there says which of them goes on. Each with a version that has a mistake. */

/* Dutch flag: less than the pivot, the pivot, more than it. */
void dutch(int *a, int n, int pivot) {
    int low = 0, middle = 0, high = n - 1;
    while (middle <= high) {
        if (a[middle] < pivot) {
            int kept = a[low];
            a[low] = a[middle];
            a[middle] = kept;
            low++;
            middle++;
        } else if (a[middle] > pivot) {
            int kept = a[middle];
            a[middle] = a[high];
            a[high] = kept;
            high--;
        } else {
            middle++;
        }
    }
}
void dutch_broken(int *a, int n, int pivot) {
    int low = 0, middle = 0, high = n - 1;
    while (middle < high) {
        if (a[middle] < pivot) {
            int kept = a[low];
            a[low] = a[middle];
            a[middle] = kept;
            low++;
            middle++;
        } else if (a[middle] > pivot) {
            int kept = a[middle];
            a[middle] = a[high];
            a[high] = kept;
            high--;
        } else {
            middle++;
        }
    }
}

int binary_search(const int *a, int n, int key) {
    int low = 0, high = n;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (a[middle] == key) return middle;
        if (a[middle] < key) low = middle + 1;
        else high = middle;
    }
    return -1;
}
int binary_search_broken(const int *a, int n, int key) {
    int low = 0, high = n;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (a[middle] == key) return middle;
        if (a[middle] <= key) low = middle + 1;
        else high = middle - 1;
    }
    return -1;
}

/* How many elements two sorted arrays have in common. */
int in_common(const int *a, int n, const int *b, int m) {
    int i = 0, j = 0, count = 0;
    while (i < n && j < m) {
        if (a[i] < b[j]) {
            i++;
        } else if (a[i] > b[j]) {
            j++;
        } else {
            count++;
            i++;
            j++;
        }
    }
    return count;
}
int in_common_broken(const int *a, int n, const int *b, int m) {
    int i = 0, j = 0, count = 0;
    while (i < n && j < m) {
        if (a[i] < b[j]) {
            i++;
        } else if (a[i] > b[j]) {
            j++;
        } else {
            count++;
            i++;
        }
    }
    return count;
}

void insertion_sort(int *a, int n) {
    for (int i = 1; i < n; i++) {
        int key = a[i], j = i - 1;
        while (j >= 0 && a[j] > key) {
            a[j + 1] = a[j];
            j--;
        }
        a[j + 1] = key;
    }
}
void insertion_sort_broken(int *a, int n) {
    for (int i = 1; i < n; i++) {
        int key = a[i], j = i - 1;
        while (j > 0 && a[j] > key) {
            a[j + 1] = a[j];
            j--;
        }
        a[j + 1] = key;
    }
}

/* The first element that was there before. */
int first_again(const int *a, int n) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (a[i] == a[j]) return i;
    return -1;
}
int first_again_broken(const int *a, int n) {
    for (int i = 0; i < n; i++)
        for (int j = 1; j < i; j++)
            if (a[i] == a[j]) return i;
    return -1;
}

/* How long a text is without blanks at both ends. */
int trimmed(const char *s, int n) {
    int i = 0, j = n;
    while (i < j && s[i] == ' ') i++;
    while (j > i && s[j - 1] == ' ') j--;
    return j - i;
}
int trimmed_broken(const char *s, int n) {
    int i = 0, j = n;
    while (i < j && s[i] == ' ') i++;
    while (j > i && s[j] == ' ') j--;
    return j - i;
}
