// y[i] = the sums of all slots (or chunks of them) added up in the tree of slots; slot k's begin at sums[k * step].
KERNEL add_slots(IN(REAL, sums), I64 step, I64 slots, OUT(REAL, y), I64 count) {
  USE_IN(REAL, sums);
  USE_OUT(REAL, y);
  const I64 i = GLOBAL_ITEM(0);
  if (i < count) y[i] = slot_tree(sums + i, step, slots);
}
