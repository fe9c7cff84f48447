package file

import (
	"context"

	"github.com/workload-resizer/workload-resizer/ratios"
	"github.com/workload-resizer/workload-resizer/ratios/config"
)

// Text is the provider of a fixed configuration.
type Text []byte

var _ ratios.Provider = Text(nil)

// Name implements ratios.Provider.
func (t Text) Name() string { return Source }

// Run implements ratios.Provider.
func (t Text) Run(ctx context.Context, report func(ratios.Update)) error {
	s := state{text: t}
	report(s.update(config.FileName))
	<-ctx.Done()
	return nil
}
