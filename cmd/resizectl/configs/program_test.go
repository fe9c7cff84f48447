package configs

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/cmdtest"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/connect"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

var program = cmdtest.ProgramWith(func(streams genericiooptions.IOStreams, _ *connect.Connection, _ *print.ColorMode) *cobra.Command {
	return NewCommand(streams)
})
