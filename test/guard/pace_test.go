package guard

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
)

// pace has the rounds of a client that does nothing but read an object, write it, and wait until a watch delivers
// it. A revert consists of such rounds, so on a busy machine, both are slow.
type pace struct {
	mu     sync.Mutex
	rounds []round
}

type round struct{ began, ended time.Time }

// roundsOfRevert is how many rounds a revert may take: its server learns of the harm, writes annotations, reads
// whether the cluster is frozen before each write, resizes, and begins again if another client was faster.
const roundsOfRevert = 4

// keepPace makes rounds until the test ends.
func keepPace(t *testing.T, client kubernetes.Interface) *pace {
	t.Helper()
	p := &pace{}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			r := round{began: time.Now()}
			for ctx.Err() == nil {
				if makeRound(ctx, client) == nil {
					break // What fails takes longer.
				}
			}
			r.ended = time.Now()
			p.mu.Lock()
			p.rounds = append(p.rounds, r)
			p.mu.Unlock()
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond): // Most of the time is for the server.
			}
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
	return p
}

// makeRound makes a round.
func makeRound(ctx context.Context, client kubernetes.Interface) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	api := client.CoreV1().ConfigMaps(metav1.NamespaceDefault)
	const name = "pace"
	read, err := api.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		_, err = api.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		return fmt.Errorf("there was no ConfigMap: %w", err)
	}
	watch, err := api.Watch(ctx, metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, name).String(), ResourceVersion: read.ResourceVersion})
	if err != nil {
		return err
	}
	defer watch.Stop()
	read.Data = map[string]string{"at": time.Now().String()}
	if _, err := api.Update(ctx, read, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if _, open := <-watch.ResultChan(); !open {
		return fmt.Errorf("the watch ended: %w", ctx.Err())
	}
	return nil
}

// ofRevert returns how long the rounds of a revert took in a time, if all were as slow as the slowest.
func (p *pace) ofRevert(from, until time.Time) time.Duration {
	return roundsOfRevert * p.slowest(from, until)
}

// slowest returns how long the slowest round took that was made in a time, or in a part of it.
func (p *pace) slowest(from, until time.Time) (slowest time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.rounds {
		if r.ended.After(from) && r.began.Before(until) {
			slowest = max(slowest, r.ended.Sub(r.began))
		}
	}
	return slowest
}

func TestPace(t *testing.T) {
	began := time.Now()
	at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	p := &pace{rounds: []round{{at(0), at(9)}, {at(10), at(11)}, {at(12), at(14)}, {at(20), at(28)}}}
	for _, tc := range []struct {
		name        string
		from, until int
		want        time.Duration
	}{
		{"a round in the time counts", 9, 12, time.Second},
		{"a round that began earlier counts", 8, 9, 9 * time.Second},
		{"a round that ended later counts", 10, 13, 2 * time.Second},
		{"other rounds do not count", 14, 20, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := p.ofRevert(at(tc.from), at(tc.until)); got != roundsOfRevert*tc.want {
				t.Errorf("got %v for %d rounds, want %v for each", got, roundsOfRevert, tc.want)
			}
		})
	}
}
