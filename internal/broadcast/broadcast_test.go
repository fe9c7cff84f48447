package broadcast

import "testing"

func TestBroadcast(t *testing.T) {
	var b Broadcast
	b.Notify() // Nobody watches.
	first, second := b.Watch(), b.Watch()
	for _, w := range []<-chan struct{}{first, second} {
		select {
		case <-w:
			t.Error("a watcher is told of a change before it watched")
		default:
		}
	}
	b.Notify()
	b.Notify()
	for name, w := range map[string]<-chan struct{}{"first": first, "second": second} {
		select {
		case <-w:
		default:
			t.Errorf("the %s is not told", name)
		}
		select {
		case <-w:
			t.Errorf("two changes that come at once are two for the %s", name)
		default:
		}
	}
}
