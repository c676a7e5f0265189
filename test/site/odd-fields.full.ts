/** All of them: TEST_ODD_TEXTS=1 */
import { describeOddFields } from './odd-fields.ts'

describeOddFields(Number(process.env.TEST_ODD_TEXTS || 4))
