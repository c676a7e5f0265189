import type { Operation } from '../../operation.ts'
import { curlExample } from './curl.ts'
import type { ExampleServer } from './example-request.ts'
import { pythonExample } from './python.ts'
import { typescriptExample } from './typescript.ts'

interface Language {
  readonly name: LanguageName
  readonly title: string
  example(operation: Operation, server: ExampleServer): string
}

export type LanguageName = 'curl' | 'typescript' | 'python'

/** What examples are written in. */
export const LANGUAGES: readonly Language[] = [
  { name: 'curl', title: 'curl', example: curlExample },
  { name: 'typescript', title: 'TypeScript', example: typescriptExample },
  { name: 'python', title: 'Python', example: pythonExample },
]
