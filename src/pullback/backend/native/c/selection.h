/* Writes of whole arrays into views, and items selected by arrays of indices or by masks. */
#ifndef PB_SELECTION_H
#define PB_SELECTION_H

#include "arrays.h"

/* Whether two arrays may share memory. */
PB_RUNTIME int pb_may_overlap(int32_t rank_a, int64_t size_a, const char *a, const int64_t *na, const int64_t *sa, int32_t rank_b,
                           int64_t size_b, const char *b, const int64_t *nb, const int64_t *sb);
/* How an array of rank r is walked along the shape of the place it is stored in; it may have more axes if they have
   length one.  0 where it does not fit. */
PB_RUNTIME int pb_fits(int32_t rank, const int64_t *place, int32_t r, const int64_t *n, const int64_t *s, int64_t *walk);
/* Add to each of the offsets of a space (in C order) what an array of indices, walked along the space, says of an axis
   of this length and stride.  Returns how many offsets were reached, or -1 where an index is out of bounds.  A length of
   -1: the array holds offsets already. */
PB_RUNTIME int64_t pb_add_offsets(int32_t rank, const int64_t *n, int64_t *offsets, int32_t dtype, const char *at, const int64_t *walk,
                               int64_t length, int64_t stride);
/* The offsets of `count` indices, `step` bytes apart, into an axis of this length and stride; 0 where one is out of
   bounds. */
PB_RUNTIME int pb_set_offsets(int64_t count, int64_t *offsets, int32_t dtype, const char *at, int64_t step, int64_t length, int64_t stride);
/* Set the offsets of a space (in C order) to those of a walk along it. */
PB_RUNTIME int64_t pb_walk_offsets(int32_t rank, const int64_t *n, const int64_t *walk, int64_t from, int64_t *offsets);
/* How many items of a mask are true; their offsets in an array of these strides, if `offsets` is not NULL. */
PB_RUNTIME int64_t pb_mask_offsets(int32_t rank, const int64_t *n, const char *mask, const int64_t *sm, const int64_t *stride, int64_t from, int64_t *offsets);
/* Copy what stands at each offset (an item, or a walk of a space) to places one after the other, `step` bytes apart. */
PB_RUNTIME void pb_gather(int64_t count, const int64_t *offsets, char *to, int64_t step, const char *from, int32_t rank, const int64_t *n,
                       int64_t size, const int64_t *st, const int64_t *sf);
/* Where numbers belong in a sorted vector: before those that are equal, or (`right`) behind them.  NaN is the largest. */
PB_RUNTIME void pb_search(int64_t n, const char *x, int64_t s, int64_t count, const char *keys, int64_t step, int right, int64_t *out);
/* Count items (or sum up their weights) in bins of one width between the least and the largest; the edges of the bins
   too.  0: there are none, or one is not finite. */
PB_RUNTIME int pb_histogram(int64_t n, const char *x, int64_t sx, const char *w, int64_t sw, int64_t bins, double *edges, char *out);

#endif
