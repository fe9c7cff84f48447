package hold

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/workload-resizer/workload-resizer/reconciler/contract"
	"github.com/workload-resizer/workload-resizer/test/localcluster"
)

// silent is a transport whose watches deliver nothing while it is on, and whose reads fail
// while refusing is on.
type silent struct {
	http.RoundTripper
	on, refusing atomic.Bool
}

func (s *silent) RoundTrip(r *http.Request) (*http.Response, error) {
	watch := strings.Contains(r.URL.RawQuery, "watch=")
	if !watch && s.refusing.Load() {
		return nil, io.ErrUnexpectedEOF
	}
	response, err := s.RoundTripper.RoundTrip(r)
	if err == nil && watch {
		response.Body = &silenced{response.Body, r.Context(), s}
	}
	return response, err
}

type silenced struct {
	io.ReadCloser
	ctx context.Context
	by  *silent
}

func (b *silenced) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.by.on.Load() {
		<-b.ctx.Done()
		return 0, b.ctx.Err()
	}
	return n, err
}

// A freeze is noticed although the watch is silent.
func TestLook(t *testing.T) {
	namespace := localcluster.NamespaceForTest(t)
	transport := &silent{}
	config := namespace.Config()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		transport.RoundTripper = next
		return transport
	})
	admin := kubernetes.NewForConfigOrDie(namespace.Config()).CoreV1().ConfigMaps(namespace.Name)
	s := running(t, New(kubernetes.NewForConfigOrDie(config), namespace.Name, contract.DefaultNames.Holds))
	awaitFrozen(t, s, false)
	transport.on.Store(true)
	if frozen, err := s.FrozenNow(t.Context()); frozen || err != nil {
		t.Fatalf("before the freeze: %v, %v", frozen, err)
	}
	freeze := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: contract.DefaultNames.Freeze}}
	if _, err := admin.Create(t.Context(), freeze, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Run("by the first write half a second later", func(t *testing.T) {
		time.Sleep(freshFor)
		if frozen, err := s.FrozenNow(t.Context()); !frozen || err != nil {
			t.Fatalf("%v, %v", frozen, err)
		}
		awaitFrozen(t, s, true) // So pods are skipped as Frozen.
	})
	t.Run("and its end without a write", func(t *testing.T) {
		if err := admin.Delete(t.Context(), contract.DefaultNames.Freeze, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		awaitFrozen(t, s, false)
	})
	t.Run("no write relies on a read that failed", func(t *testing.T) {
		transport.refusing.Store(true)
		time.Sleep(freshFor)
		if _, err := s.FrozenNow(t.Context()); err == nil || !strings.Contains(err.Error(), "read whether the cluster is frozen") {
			t.Errorf("got %v", err)
		}
	})
}
