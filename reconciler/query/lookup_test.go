package query

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/workload-resizer/workload-resizer/reconciler/cluster"
	"github.com/workload-resizer/workload-resizer/reconciler/clustertest"
	"github.com/workload-resizer/workload-resizer/reconciler/workload"
)

func TestLookup(t *testing.T) {
	t.Run("counts pods once they are read", countsPodsOnceTheyAreRead)
	t.Run("finds a pod by its name", findsAPodByItsName)
}

func countsPodsOnceTheyAreRead(t *testing.T) {
	r, unread := shop(t), about(clustertest.Unread(t))
	web := workload.Workload{Kind: "Deployment", Name: "web"}
	var notReady *cluster.NotReadyError
	if _, err := unread.Count(""); !errors.As(err, &notReady) || notReady.What != cluster.CacheNotReady {
		t.Errorf("unread: %v", err)
	}
	if _, err := unread.CountOf("shop", web); !errors.As(err, &notReady) || notReady.What != cluster.CacheNotReady {
		t.Errorf("unread, of a workload: %v", err)
	}
	for namespace, want := range map[string]int{"": 5, "shop": 3, "bank": 2, "shpo": 0} {
		if got, err := r.Count(namespace); got != want || err != nil {
			t.Errorf("%q has %d pods, %v; want %d", namespace, got, err, want)
		}
	}
	for namespace, want := range map[string]int{"": 2, "shop": 2, "bank": 0} {
		if got, err := r.CountOf(namespace, web); got != want || err != nil {
			t.Errorf("%q has %d pods of the workload, %v; want %d", namespace, got, err, want)
		}
	}
}

func findsAPodByItsName(t *testing.T) {
	r := shop(t)
	uid, err := r.UID(types.NamespacedName{Namespace: "shop", Name: "db"})
	if err != nil || uid != "shop/db" {
		t.Errorf("%q, %v", uid, err)
	}
	var unknown *PodNotFoundError
	if _, err := r.UID(types.NamespacedName{Namespace: "bank", Name: "web-1-x"}); !errors.As(err, &unknown) {
		t.Errorf("of another namespace: %v", err)
	}
}
