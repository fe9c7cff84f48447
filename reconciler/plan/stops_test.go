package plan

import (
	"testing"

	"github.com/workload-resizer/workload-resizer/reconciler/podtest"
)

func TestStops(t *testing.T) {
	stop := &Stop{Scope: "namespace shop", Since: podtest.At(10)}
	signed := &Stop{Scope: "Deployment shop/web", Since: podtest.At(10), Author: "ann", Reason: "moving"}
	for _, tc := range []struct{ got, want string }{
		{(*Stop)(nil).frozen(), ""},
		{(*Stop)(nil).paused(), ""},
		{stop.frozen(), "the cluster was frozen at 2026-11-21T00:00:10Z: no reason given"},
		{signed.frozen(), "the cluster was frozen at 2026-11-21T00:00:10Z by ann: moving"},
		{stop.paused(), "the pause of namespace shop began at 2026-11-21T00:00:10Z: no reason given"},
		{signed.degraded(), "the breaker of Deployment shop/web opened at 2026-11-21T00:00:10Z: moving"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
}
