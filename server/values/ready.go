package values

import (
	"github.com/workload-resizer/workload-resizer/ratios"
	rpcerror "github.com/workload-resizer/workload-resizer/server/errors"
)

// ReadyTable returns the ratios in effect, or an error if there are none.
func ReadyTable(store *ratios.Store) (*ratios.Table, error) {
	table, err := store.Ready()
	if err != nil {
		return nil, rpcerror.NotReady(rpcerror.RatiosNotReady, err)
	}
	return table, nil
}
