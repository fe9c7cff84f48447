package connect_test

import (
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/ratios"
)

// program has commands that only connect, and say what a server answers.
var program = cmdtest.ProgramWith(ratios.NewCommand)
