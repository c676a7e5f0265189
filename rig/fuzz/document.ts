/** The served OpenAPI document. The fuzzer knows nothing else of the contract. */

/** The subset of JSON Schema that the document uses; `schema-check.ts` rejects other keywords. */
export interface Schema {
  readonly $ref?: string
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object' | 'null'
  readonly enum?: readonly string[]
  readonly const?: string
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly maxProperties?: number
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly examples?: readonly unknown[]
  /** The type of resource that the id refers to. */
  readonly refersTo?: string
}

type Content = Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: Schema
}

export interface DescribedOperation {
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
}

export interface ApiDocument {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, Omit<DescribedOperation, 'method' | 'path'>>>>
  >
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

export function operationsOf(document: ApiDocument): DescribedOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      ...described,
      method: method.toUpperCase(),
      path,
    })),
  )
}
