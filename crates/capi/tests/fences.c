/* Linked to programs that run under ThreadSanitizer, which does not see the barriers that the system makes for readers: before `main`,
 * readers are made to use fences. */
#include "freehold.h"

__attribute__((constructor)) static void use_fences(void) { fh_use_fences(); }
