package leader

import "time"

// MinLeaseDuration is the shortest LeaseDuration: a leader must have several attempts to renew its
// Lease before it stops leading.
const MinLeaseDuration = 3 * time.Second

// renewDeadline is how long a leader tries to renew its Lease before it stops leading, which must be
// before others may lead: 10 of 15 seconds, as in Kubernetes.
func renewDeadline(lease time.Duration) time.Duration { return lease * 2 / 3 }

// retryPeriod is the maximum time between two reads of the Lease: a second of 15.
func retryPeriod(lease time.Duration) time.Duration { return max(lease/15, time.Second/2) }

// RequestTimeout is how long a request for the Lease may take: an attempt that gets no answer must
// leave time for another one.
func RequestTimeout(lease time.Duration) time.Duration { return renewDeadline(lease) / 2 }
