/** Where the benchmark saves its results. */
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as keep from '../../tools/keep.ts'

const HOME = dirname(import.meta.dirname)

export const keepResults = (results: Readonly<Record<string, string>>) => keep.keepResults(HOME, results)
export const showInReadme = (block: string, markdown: string) => keep.showInReadme(HOME, block, markdown)
export const showPicture = (name: string, svg: string) => writeFileSync(join(HOME, name), svg)
