/** `1,234`. The formatter of the runtime loads its tables first, which every start of a command would wait for. */
export const formatThousands = (count: number): string => String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')
