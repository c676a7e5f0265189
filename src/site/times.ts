/** Times as pages show them. */
export const day = (iso: string): string => iso.slice(0, 10)
export const minute = (iso: string): string => `${day(iso)} ${iso.slice(11, 16)} UTC`
