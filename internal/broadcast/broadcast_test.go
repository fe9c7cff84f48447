package broadcast

import "testing"

func TestBroadcast(t *testing.T) {
	var b Broadcast
	b.Notify() // There are no watchers.
	first, second := b.Watch(), b.Watch()
	for _, w := range []<-chan struct{}{first, second} {
		select {
		case <-w:
			t.Error("the watcher received a change from before it watched")
		default:
		}
	}
	b.Notify()
	b.Notify()
	for name, w := range map[string]<-chan struct{}{"first": first, "second": second} {
		select {
		case <-w:
		default:
			t.Errorf("the %s watcher was not notified", name)
		}
		select {
		case <-w:
			t.Errorf("the %s watcher received two changes in a row separately", name)
		default:
		}
	}
}
