/** The served OpenAPI document. The fuzzer knows nothing else of the contract. */

/** The subset of JSON Schema that the document uses; `schema-check.ts` rejects other keywords. */
export interface Schema {
  readonly $ref?: string
  readonly type?: SchemaType | readonly SchemaType[]
  readonly format?: string
  readonly enum?: readonly string[]
  readonly const?: string
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema
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
  /** Of text with one JSON document per line: the schema of a line. */
  readonly contentSchema?: Schema
  /** The type of resource that the id refers to. */
  readonly 'x-strand-refers-to'?: string
}

export type SchemaType = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object' | 'null'

type Content = Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: Schema
}

export interface DescribedResponse {
  readonly headers?: Readonly<Record<string, { readonly required?: boolean; readonly schema: Schema }>>
  readonly content?: Content
}

export interface DescribedOperation {
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly required: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, DescribedResponse>>
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
}

export interface ApiDocument {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, Omit<DescribedOperation, 'method' | 'path'>>>>
  >
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

/** All operations, with what the document refers to in place of the references. */
export function operationsOf(document: ApiDocument): DescribedOperation[] {
  const targets: Targets = new Map()
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([key]) => METHODS.has(key))
      .map(([method, described]) => ({
        ...(resolved(described, document, targets) as typeof described),
        method: method.toUpperCase(),
        path,
      })),
  )
}

/** A path item also has its servers. */
const METHODS: ReadonlySet<string> = new Set(['get', 'post', 'put', 'patch', 'delete'])

/** By reference: operations share what they refer to, so that a schema is compiled once. */
type Targets = Map<string, unknown>

/** No schema contains itself, so references end. */
function resolved(value: unknown, document: ApiDocument, targets: Targets): unknown {
  if (Array.isArray(value)) return value.map(each => resolved(each, document, targets))
  if (typeof value !== 'object' || value === null) return value
  const { $ref } = value as { readonly $ref?: string }
  if (typeof $ref === 'string') {
    const target = targets.get($ref) ?? resolved(targetOf($ref, document), document, targets)
    targets.set($ref, target)
    return target
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, resolved(each, document, targets)]),
  )
}

/** What `#/components/schemas/Stream` refers to. */
function targetOf(reference: string, document: ApiDocument): unknown {
  const steps = reference.split('/').slice(1)
  const target = steps.reduce<unknown>((at, step) => Object(at)[step], document)
  if (target === undefined) throw new Error(`the document refers to ${reference}, which it does not have`)
  return target
}
