package objects

import (
	"github.com/spf13/cobra"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
)

// Limit is how many objects a command lists at most; 0 for all.
type Limit int

// AddFlag adds --limit to a command that lists these objects. Without the flag, initial is the limit, and 0 means all.
func (l *Limit) AddFlag(cmd *cobra.Command, initial int, objects, all string) {
	cmd.Flags().IntVar((*int)(l), "limit", initial, "maximum number of "+objects+" to list; 0 for "+all)
}

// Check is a step that rejects a limit that is none.
func (l *Limit) Check(cmd *cobra.Command, _ []string) error {
	if *l < 0 {
		return command.UsageErrorf(cmd, "--limit %d is negative; use 0 for no limit", *l)
	}
	return nil
}

// Read calls next for pages of a list until it has enough objects, or there are no more. next asks for a page of at most size
// objects, and returns how many there are on all pages so far.
func (l Limit) Read(most int, next func(size int32) (total int, more bool, err error)) error {
	for total := 0; ; {
		size := most
		if l > 0 {
			size = min(size, int(l)-total)
		}
		var more bool
		var err error
		if total, more, err = next(int32(size)); err != nil || !more || l > 0 && total >= int(l) {
			return err
		}
	}
}
