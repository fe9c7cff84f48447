package history

import "github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"

var program = cmdtest.ProgramWith(NewCommand)
