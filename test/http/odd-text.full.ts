import { describeOddOperations } from './odd-text.ts'

describeOddOperations(1)
