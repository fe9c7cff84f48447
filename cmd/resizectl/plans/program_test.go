package plans

import "github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"

var program = cmdtest.ProgramOf(NewCommands)
