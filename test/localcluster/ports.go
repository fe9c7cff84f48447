package localcluster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
)

// Ports are taken from below the range that the kernel gives to outgoing
// connections: one of those could otherwise take a port between its choice here
// and its use.
const (
	firstPort = 10000
	portCount = 10000
)

var (
	chosenMu sync.Mutex
	// chosen ports are not given to anybody else in this process, who might
	// use them first.
	chosen = map[int]bool{}
)

// FreeAddress returns an address on loopback with a port that nobody listens
// on. If preferred is not empty and free, it is that.
func FreeAddress(preferred string) (string, error) {
	chosenMu.Lock()
	defer chosenMu.Unlock()
	if preferred != "" && isFree(preferred) {
		return preferred, nil
	}
	for _, offset := range rand.Perm(portCount) {
		port := firstPort + offset
		address := fmt.Sprintf("127.0.0.1:%d", port)
		if !chosen[port] && isFree(address) {
			chosen[port] = true
			return address, nil
		}
	}
	return "", errors.New("find a free port: all are in use")
}

func isFree(address string) bool {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return false
	}
	return listener.Close() == nil
}
