package plans

import (
	"context"
	"fmt"
	"io"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/command"
	"github.com/workload-resizer/workload-resizer/cmd/resizectl/configs"
	"github.com/workload-resizer/workload-resizer/ratios/config"
)

// configuration returns the configuration in a file, in any form that "config validate" reads. Plans
// show which of its ratios are implausible.
func configuration(ctx context.Context, file string, stdin io.Reader) ([]byte, error) {
	name := command.Source(file)
	text, err := name.Read(ctx, stdin)
	if err != nil {
		return nil, err
	}
	found := configs.Find(text, configs.DefaultName)
	if len(found) > 1 {
		return nil, fmt.Errorf("%s has %d configurations, and none is in a ConfigMap named %s: use a file with one", name, len(found), configs.DefaultName)
	}
	err = found[0].Err
	if err == nil {
		err = config.Check(found[0].Text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is not valid: %w; see \"resizectl config validate -f %s\"", name, err, file)
	}
	return found[0].Text, nil
}
