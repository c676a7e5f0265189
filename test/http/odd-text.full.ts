/** All of them: TEST_ODD_TEXTS=1 */
import { describeOddOperations } from './odd-text.ts'

describeOddOperations(Number(process.env.TEST_ODD_TEXTS || 5))
