/** What property tests share. */
import fc from 'fast-check'

const isFull = process.env.TEST_TIER === 'full'

/**
 * How often a property is tried: so often in the full tier, which has them again, and a quarter as often in the default tier.
 * The name of its test begins with `property: `.
 */
export const runs = (inFullTier: number): number => (isFull ? inFullTier : Math.ceil(inFullTier / 4))

/** Any code point but surrogates, as fast-check's own unit `binary`, which takes half a second to be made. */
export const anyCharacter = fc
  .nat(0x10ffff - 0x800)
  .map(number => String.fromCodePoint(number < 0xd800 ? number : number + 0x800))
