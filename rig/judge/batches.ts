import type { Operation, Read } from './operation.ts'

/** Reads that show a group in parts: rows missing, or some of them as another write left them. */
export function tornReads(history: readonly Operation[], size: number): Read[] {
  return history.filter((each): each is Read => {
    if (each.kind !== 'read' || each.outcome !== 'ok') return false
    const [first] = each.rows
    const isWhole = each.rows.every(row => row.status === first?.status && row.version === first.version)
    return !isWhole || each.rows.length !== size
  })
}
