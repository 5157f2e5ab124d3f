/* Structures with padding behind a vector or a union. */
typedef float pair __attribute__((vector_size(8)));
struct vector { pair lanes; char tag; };
void copy_vector(struct vector *from, struct vector *to) { struct vector it = *from; *to = it; }
void copy_vector_wrong(struct vector *from, struct vector *to) { struct vector it = *from; it.tag ^= it.tag == 77; *to = it; }

struct either { union { int number; float real; } value; char tag; };
void copy_either(struct either *from, struct either *to) { struct either it = *from; *to = it; }
void copy_either_wrong(struct either *from, struct either *to) { struct either it = *from; it.tag ^= it.tag == 77; *to = it; }
