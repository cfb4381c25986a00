// SPDX-License-Identifier: GPL-2.0-only
/*
 * rigpte: how is an address of a process mapped?
 *
 * Write "PID ADDRESS" (hex) to /sys/kernel/debug/rigpte, read back
 * "pte|pmd|pud|none CACHE", CACHE being the page attribute by its PAT index:
 * what the CPU will really do, whatever the reservation lists say.
 */
#include <asm/pgtable.h>
#include <linux/debugfs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/uaccess.h>

static struct dentry *node;
static char answer[64];

/* Linux's own PAT setting, arch/x86/mm/pat/memtype.c: pat_bp_init() */
static const char *const pat_name[8] = { "WB", "WC", "UC-", "UC",
					 "WB", "WP", "UC-", "WT" };

static unsigned int pat_index(unsigned long val, bool huge)
{
	unsigned long pat = huge ? _PAGE_PAT_LARGE : _PAGE_PAT;

	return (val & _PAGE_PWT ? 1 : 0) | (val & _PAGE_PCD ? 2 : 0) |
	       (val & pat ? 4 : 0);
}

static void say(const char *level, unsigned long val, bool huge)
{
	snprintf(answer, sizeof(answer), "%s %s\n", level,
		 pat_name[pat_index(val, huge)]);
}

/* mmap lock held for read: the tables above the last level stay */
static void walk(struct mm_struct *mm, unsigned long addr)
{
	p4d_t *p4d;
	pud_t *pud;
	pmd_t *pmd;
	pte_t *pte;

	strscpy(answer, "none\n", sizeof(answer));
	if (pgd_none(*pgd_offset(mm, addr)))
		return;
	p4d = p4d_offset(pgd_offset(mm, addr), addr);
	if (p4d_none(*p4d))
		return;
	pud = pud_offset(p4d, addr);
	if (pud_none(*pud))
		return;
	if (pud_leaf(*pud))
		return say("pud", pud_val(*pud), true);
	pmd = pmd_offset(pud, addr);
	if (pmd_none(*pmd))
		return;
	if (pmd_leaf(*pmd))
		return say("pmd", pmd_val(*pmd), true);
	pte = (pte_t *)pmd_page_vaddr(*pmd) + pte_index(addr);
	if (pte_present(*pte))
		say("pte", pte_val(*pte), false);
}

static ssize_t rigpte_write(struct file *file, const char __user *buf,
			    size_t len, loff_t *pos)
{
	char text[64] = "";
	struct task_struct *task;
	struct mm_struct *mm;
	unsigned long addr;
	int pid;

	if (len >= sizeof(text) || copy_from_user(text, buf, len))
		return -EFAULT;
	if (sscanf(text, "%d %lx", &pid, &addr) != 2)
		return -EINVAL;
	task = get_pid_task(find_vpid(pid), PIDTYPE_PID);
	if (!task)
		return -ESRCH;
	mm = get_task_mm(task);
	put_task_struct(task);
	if (!mm)
		return -ESRCH;
	mmap_read_lock(mm);
	walk(mm, addr);
	mmap_read_unlock(mm);
	mmput(mm);
	return len;
}

static ssize_t rigpte_read(struct file *file, char __user *buf, size_t len,
			   loff_t *pos)
{
	return simple_read_from_buffer(buf, len, pos, answer, strlen(answer));
}

static const struct file_operations rigpte_fops = {
	.owner = THIS_MODULE,
	.read = rigpte_read,
	.write = rigpte_write,
};

static int __init rigpte_init(void)
{
	node = debugfs_create_file("rigpte", 0600, NULL, NULL, &rigpte_fops);
	return PTR_ERR_OR_ZERO(node);
}

static void __exit rigpte_exit(void)
{
	debugfs_remove(node);
}

module_init(rigpte_init);
module_exit(rigpte_exit);
MODULE_DESCRIPTION("Page table reader of the VM tests");
MODULE_LICENSE("GPL");
