/** Preloaded into every test file: a test that ends without an assertion fails. */
import { beforeEach, expect } from 'bun:test'

beforeEach(() => {
  try {
    expect.hasAssertions()
  } catch {
    // Bun cannot count the assertions of a concurrent test.
  }
})
