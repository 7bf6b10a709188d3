/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 hvnet contributors
 *
 * Keeps guest processes' shared mappings and finds bytes in them by guest-physical address.
 *
 *   extents  sorted by (owner, va): what was registered, with the host's mapping
 *   frames   sorted by address (pa mode): one entry for each page, filled at a missed look-up
 *   cache    direct-mapped by 2 MiB frame: a hit costs one compare
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "guestmem.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

/** The cache works in units of the usual hugepage. */
#define CACHE_SHIFT 21
#define CACHE_BYTES (1ull << CACHE_SHIFT)
#define CACHE_SLOTS 512u

/** Most mappings of all guests together. */
#define EXTENTS_MAX (1u << 17)

/* /proc/self/pagemap: one u64 for each base page. Source: Linux admin-guide/mm/pagemap. */
#define PAGEMAP_PRESENT (1ull << 63)
#define PAGEMAP_PFN ((1ull << 55) - 1)

struct extent {
	uint64_t va;
	uint64_t len;
	uint8_t *host;
	uint64_t page; /* page size of the file, bytes */
	int owner;
	bool framed; /* its pages are in frames[], or cannot be */
};

struct frame {
	uint64_t pa;
	uint64_t len;
	uint8_t *host;
};

struct guestmem {
	enum guestmem_mode mode;
	int pagemap;
	uint64_t base_page;
	struct extent *ext;
	uint32_t next;
	uint32_t ext_cap;
	struct frame *fr;
	uint32_t nfr;
	uint32_t fr_cap;
	uint32_t unframed; /* extents that the next miss has to look into */
	uint32_t last;     /* va mode: index of the last hit */
	struct {
		uint64_t key; /* frame number + 1 */
		uint8_t *host;
	} cache[CACHE_SLOTS];
};

struct guestmem *
guestmem_create(enum guestmem_mode mode)
{
	struct guestmem *gm = calloc(1, sizeof(*gm));

	if (gm == NULL)
		return NULL;
	gm->mode = mode;
	gm->base_page = (uint64_t)sysconf(_SC_PAGESIZE);
	gm->pagemap = -1;
	if (mode == GUESTMEM_PA)
		gm->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	return gm;
}

void
guestmem_destroy(struct guestmem *gm)
{
	uint32_t i;

	if (gm == NULL)
		return;
	for (i = 0; i < gm->next; i++)
		munmap(gm->ext[i].host, gm->ext[i].len);
	if (gm->pagemap >= 0)
		close(gm->pagemap);
	free(gm->ext);
	free(gm->fr);
	free(gm);
}

/* First extent of @p owner that ends behind @p va, or the first of a later owner. */
static uint32_t
ext_search(const struct guestmem *gm, int owner, uint64_t va)
{
	uint32_t lo = 0;
	uint32_t hi = gm->next;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		const struct extent *e = &gm->ext[mid];

		if (e->owner < owner || (e->owner == owner && e->va + e->len <= va))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Make room for one more extent at @p at. */
static struct extent *
ext_insert(struct guestmem *gm, uint32_t at)
{
	if (gm->next == gm->ext_cap) {
		uint32_t cap = gm->ext_cap == 0 ? 64 : gm->ext_cap * 2;
		struct extent *p;

		if (cap > EXTENTS_MAX)
			return NULL;
		p = realloc(gm->ext, cap * sizeof(*p));
		if (p == NULL)
			return NULL;
		gm->ext = p;
		gm->ext_cap = cap;
	}
	memmove(&gm->ext[at + 1], &gm->ext[at], (gm->next - at) * sizeof(gm->ext[0]));
	gm->next++;
	return &gm->ext[at];
}

static void
ext_remove(struct guestmem *gm, uint32_t at)
{
	if (!gm->ext[at].framed)
		gm->unframed--;
	memmove(&gm->ext[at], &gm->ext[at + 1], (gm->next - at - 1) * sizeof(gm->ext[0]));
	gm->next--;
}

/* The host's bytes [p, p + len) are going: forget the frames in them. */
static void
frames_forget(struct guestmem *gm, const uint8_t *p, uint64_t len)
{
	uint32_t n = 0;
	uint32_t i;

	memset(gm->cache, 0, sizeof(gm->cache));
	for (i = 0; i < gm->nfr; i++)
		if (gm->fr[i].host < p || gm->fr[i].host >= p + len)
			gm->fr[n++] = gm->fr[i];
	gm->nfr = n;
}

int
guestmem_map(struct guestmem *gm, int owner, uint64_t va, uint64_t len, int fd, uint64_t ofs)
{
	struct statfs fs;
	struct extent *e;
	uint8_t *host;
	uint64_t page;

	if (gm->mode == GUESTMEM_NONE)
		return 0;
	if (fstatfs(fd, &fs) != 0)
		return -errno;
	page = fs.f_type == HUGETLBFS_MAGIC ? (uint64_t)fs.f_bsize : gm->base_page;
	if (len > UINT64_MAX - page)
		return -EINVAL;
	/* The kernel maps whole pages of the file, and takes nothing less back. */
	len = (len + page - 1) & ~(page - 1);
	if (len == 0 || va + len < va || ofs + len < ofs || ofs + len > INT64_MAX ||
	    va % page != 0)
		return -EINVAL;
	guestmem_unmap(gm, owner, va, len);
	host = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd,
		    (off_t)ofs);
	if (host == MAP_FAILED)
		return -errno;
	/* A guest that dies must not leave its memory in a core file or child of the host. */
	madvise(host, len, MADV_DONTFORK);
	e = ext_insert(gm, ext_search(gm, owner, va));
	if (e == NULL) {
		munmap(host, len);
		return -ENOMEM;
	}
	*e = (struct extent){
		.va = va,
		.len = len,
		.host = host,
		.page = page,
		.owner = owner,
		.framed = gm->mode != GUESTMEM_PA || fs.f_type != HUGETLBFS_MAGIC,
	};
	if (!e->framed)
		gm->unframed++;
	return 0;
}

/* Take [va, end) out of extent @p at; true when the extent is still there. */
static bool
ext_cut(struct guestmem *gm, uint32_t at, uint64_t va, uint64_t end)
{
	struct extent *e = &gm->ext[at];
	uint64_t first = va > e->va ? va - e->va : 0;
	uint64_t last = end < e->va + e->len ? end - e->va : e->len;
	struct extent *tail;

	/* Only whole pages of the file can go; the guest cannot unmap less either. */
	first -= first % e->page;
	last = last + (e->page - last % e->page) % e->page;
	if (last > e->len)
		last = e->len;
	frames_forget(gm, e->host + first, last - first);
	munmap(e->host + first, last - first);
	if (first != 0 && last < e->len) {
		tail = ext_insert(gm, at + 1);
		e = &gm->ext[at];
		if (tail != NULL) {
			*tail = *e;
			tail->va += last;
			tail->host += last;
			tail->len -= last;
			if (!tail->framed)
				gm->unframed++;
		} else {
			munmap(e->host + last, e->len - last);
			frames_forget(gm, e->host + last, e->len - last);
		}
		e->len = first;
	} else if (first != 0) {
		e->len = first;
	} else if (last < e->len) {
		e->va += last;
		e->host += last;
		e->len -= last;
	} else {
		ext_remove(gm, at);
		return false;
	}
	return true;
}

void
guestmem_unmap(struct guestmem *gm, int owner, uint64_t va, uint64_t len)
{
	uint64_t end = va + len < va ? UINT64_MAX : va + len;
	uint32_t at = ext_search(gm, owner, va);

	while (at < gm->next && gm->ext[at].owner == owner && gm->ext[at].va < end)
		if (ext_cut(gm, at, va, end))
			at++;
}

void
guestmem_drop(struct guestmem *gm, int owner)
{
	guestmem_unmap(gm, owner, 0, UINT64_MAX);
}

static int
frame_cmp(const void *a, const void *b)
{
	const struct frame *x = a;
	const struct frame *y = b;

	return x->pa < y->pa ? -1 : x->pa > y->pa;
}

static bool
frames_reserve(struct guestmem *gm, uint64_t more)
{
	uint64_t need = gm->nfr + more;
	struct frame *p;

	if (need <= gm->fr_cap)
		return true;
	need = need * 2;
	if (need > UINT32_MAX / 2)
		return false;
	p = realloc(gm->fr, need * sizeof(*p));
	if (p == NULL)
		return false;
	gm->fr = p;
	gm->fr_cap = (uint32_t)need;
	return true;
}

/* Enter the page frames of @p e; a page that cannot be read is left out. */
static void
frames_add(struct guestmem *gm, struct extent *e)
{
	uint64_t ofs;
	uint64_t v;

	e->framed = true;
	gm->unframed--;
	if (!frames_reserve(gm, e->len / e->page))
		return;
	for (ofs = 0; ofs + e->page <= e->len; ofs += e->page) {
		uint8_t *p = e->host + ofs;
		off_t at = (off_t)((uintptr_t)p / gm->base_page * sizeof(v));

		if (madvise(p, gm->base_page, MADV_POPULATE_READ) != 0 && errno == EINVAL)
			(void)*(volatile uint8_t *)p; /* Linux before 5.14 */
		if (pread(gm->pagemap, &v, sizeof(v), at) != (ssize_t)sizeof(v) ||
		    (v & PAGEMAP_PRESENT) == 0 || (v & PAGEMAP_PFN) == 0)
			continue;
		gm->fr[gm->nfr++] = (struct frame){
			.pa = (v & PAGEMAP_PFN) * gm->base_page,
			.len = e->page,
			.host = p,
		};
	}
}

static void *
frames_find(const struct guestmem *gm, uint64_t gpa, uint32_t len, const struct frame **found)
{
	uint32_t lo = 0;
	uint32_t hi = gm->nfr;
	const struct frame *f;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (gm->fr[mid].pa + gm->fr[mid].len <= gpa)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == gm->nfr)
		return NULL;
	f = &gm->fr[lo];
	if (gpa < f->pa || len > f->len - (gpa - f->pa))
		return NULL;
	*found = f;
	return f->host + (gpa - f->pa);
}

static void *
find_pa(struct guestmem *gm, uint64_t gpa, uint32_t len)
{
	uint64_t key = (gpa >> CACHE_SHIFT) + 1;
	uint32_t slot = (uint32_t)key % CACHE_SLOTS;
	const struct frame *f = NULL;
	uint32_t i;
	void *p;

	if (gm->cache[slot].key == key && (gpa & (CACHE_BYTES - 1)) + len <= CACHE_BYTES)
		return gm->cache[slot].host + (gpa & (CACHE_BYTES - 1));
	p = frames_find(gm, gpa, len, &f);
	if (p == NULL && gm->unframed != 0) {
		for (i = 0; i < gm->next; i++)
			if (!gm->ext[i].framed)
				frames_add(gm, &gm->ext[i]);
		if (gm->nfr != 0)
			qsort(gm->fr, gm->nfr, sizeof(gm->fr[0]), frame_cmp);
		p = frames_find(gm, gpa, len, &f);
	}
	if (p != NULL && f->len >= CACHE_BYTES) {
		gm->cache[slot].key = key;
		gm->cache[slot].host = (uint8_t *)p - (gpa & (CACHE_BYTES - 1));
	}
	return p;
}

static void *
ext_bytes(const struct extent *e, uint64_t va, uint32_t len)
{
	if (va < e->va || va - e->va >= e->len || len > e->len - (va - e->va))
		return NULL;
	return e->host + (va - e->va);
}

static void *
find_va(struct guestmem *gm, int owner, uint64_t va, uint32_t len)
{
	uint32_t at;
	void *p;

	if (gm->last < gm->next && gm->ext[gm->last].owner == owner) {
		p = ext_bytes(&gm->ext[gm->last], va, len);
		if (p != NULL)
			return p;
	}
	at = ext_search(gm, owner, va);
	if (at < gm->next && gm->ext[at].owner == owner) {
		p = ext_bytes(&gm->ext[at], va, len);
		if (p != NULL) {
			gm->last = at;
			return p;
		}
	}
	/* A secondary process may send what only it has mapped: ask the others in turn. */
	for (at = 0; at < gm->next; at = ext_search(gm, gm->ext[at].owner, UINT64_MAX)) {
		uint32_t i = ext_search(gm, gm->ext[at].owner, va);

		if (i < gm->next && gm->ext[i].owner == gm->ext[at].owner) {
			p = ext_bytes(&gm->ext[i], va, len);
			if (p != NULL)
				return p;
		}
	}
	return NULL;
}

void *
guestmem_find(struct guestmem *gm, int owner, uint64_t gpa, uint32_t len)
{
	if (len == 0 || gpa + len < gpa)
		return NULL;
	if (gm->mode == GUESTMEM_PA)
		return find_pa(gm, gpa, len);
	if (gm->mode == GUESTMEM_VA)
		return find_va(gm, owner, gpa, len);
	return NULL;
}

bool
guestmem_fault(struct guestmem *gm, const void *addr)
{
	const uint8_t *p = addr;
	uint32_t i;

	for (i = 0; i < gm->next; i++) {
		const struct extent *e = &gm->ext[i];

		if (p < e->host || p >= e->host + e->len)
			continue;
		return mmap(e->host, e->len, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
			    0) != MAP_FAILED;
	}
	return false;
}

uint64_t
guestmem_bytes(const struct guestmem *gm)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < gm->next; i++)
		sum += gm->ext[i].len;
	return sum;
}
