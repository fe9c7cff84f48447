package backtest

import (
	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

var program = cmdtest.ProgramWith(func(out print.Output, _ *connect.Connection) *cobra.Command {
	return NewCommand(out)
})
