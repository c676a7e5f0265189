import { describeOddFields } from './odd-fields.ts'

describeOddFields(1)
