package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	listers "k8s.io/client-go/listers/core/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
)

func TestChurn(t *testing.T) {
	t.Run("failed and missed deletions are counted", failedAndMissedDeletionsAreCounted)
}

func failedAndMissedDeletionsAreCounted(t *testing.T) {
	for _, tc := range []struct {
		name                    string
		running                 int
		err                     error
		outage                  bool
		deleted, failed, missed bool
	}{
		{"deletions succeed", 9, nil, false, true, false, false},
		{"the API server refuses deletions", 9, errors.New("no"), false, false, true, false},
		{"too few pods are running", 6, nil, false, false, false, true},
		{"too few pods are running in an outage", 6, nil, true, false, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := fake.NewClientset()
				client.PrependReactor("delete", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, tc.err })
				indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
				for n := range tc.running {
					if err := indexer.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: string(rune('a' + n))}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}); err != nil {
						t.Fatal(err)
					}
				}
				c := &churn{client: client, pods: listers.NewPodLister(indexer), population: 9, rate: 2, outages: &outages{}}
				if tc.outage {
					c.outages.begin()
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				c.run(ctx)
				if deleted, inTime := c.deleted.Load() > 0, c.inTime.Load() > 0; deleted != tc.deleted || inTime != tc.deleted {
					t.Errorf("deleted: %t, in time: %t, want %t", deleted, inTime, tc.deleted)
				}
				if got := c.failed.Load() > 0; got != tc.failed {
					t.Errorf("failed: %t", got)
				}
				if got := c.missed.Load() > 0; got != tc.missed {
					t.Errorf("missed: %t", got)
				}
				if got := c.active.Load() > 0; got == tc.outage {
					t.Errorf("active: %t", got)
				}
			})
		})
	}
}
