package benchmarks

import (
	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/ratios"
)

var program = cmdtest.ProgramOf(func(out print.Output, server *connect.Connection) []*cobra.Command {
	of := ratios.NewCommand(out, server)
	of.AddCommand(NewSuggestCommand(out, server))
	return []*cobra.Command{NewCommand(out, server), of}
})
