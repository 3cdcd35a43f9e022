/**
 * A 32-bit hash of text: FNV-1a over the UTF-16 code units, then MurmurHash3's finaliser, because the low bits of
 * FNV alone are uneven in small ranges. Written out here so that no upgrade of a dependency can ever move the
 * schedules that are spread by it.
 */
export function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
