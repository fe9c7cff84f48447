package connect_test

import (
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/ratios"
)

// program has commands that only connect and print the server's answer.
var program = cmdtest.ProgramWith(ratios.NewCommand)
