// Arrays that moved while another thread may still read the old place. They are listed here; the host frees them when no pin needs them.
import { hostAlloc, hostFree } from "./host";

/** blocks: | ptr u32 | bytes u32 | × capacity */
@unmanaged
export class Retired {
  blocks: u32;
  count: u32;
  capacity: u32;
}

/** Makes room for one more block; call before the allocation that replaces it. */
export function reserveRetired(list: Retired): void {
  if (list.count < list.capacity) return;
  const capacity = max<u32>(8, list.capacity << 1);
  const blocks = hostAlloc(capacity << 3);
  memory.copy(blocks, list.blocks, list.count << 3);
  if (list.capacity != 0) hostFree(list.blocks, list.capacity << 3);
  list.blocks = blocks;
  list.capacity = capacity;
}

/** Adds a block to the list. There must be room for it. */
export function retire(list: Retired, ptr: u32, bytes: u32): void {
  const at = list.blocks + (list.count << 3);
  store<u32>(at, ptr);
  store<u32>(at, bytes, 4);
  list.count++;
}
