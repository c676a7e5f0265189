/** The result of the work, or that of `late` if the work takes longer. The work is not cancelled. */
export async function withTimeout<T, Late>(
  milliseconds: number,
  work: T | Promise<T>,
  late: () => Late,
): Promise<T | Late> {
  const { promise, resolve, reject } = Promise.withResolvers<Late>()
  const timer = setTimeout(() => {
    try {
      resolve(late())
    } catch (error) {
      reject(error)
    }
  }, milliseconds)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
