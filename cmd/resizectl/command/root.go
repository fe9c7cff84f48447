package command

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// NewRoot returns the program without commands. Its errors are for Report.
func NewRoot(streams genericiooptions.IOStreams) *cobra.Command {
	root := &cobra.Command{
		Use: "resizectl",
		// Report prints errors, and a page of usage would hide them.
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	root.SetFlagErrorFunc(flagError)
	Group(root)
	return root
}
