package document

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
)

func TestUpdate(t *testing.T) {
	t.Run("uses the field manager of the contract", func(t *testing.T) {
		if fieldManager != contract.FieldManager {
			t.Errorf("field manager %q, want %q", fieldManager, contract.FieldManager)
		}
	})
}
